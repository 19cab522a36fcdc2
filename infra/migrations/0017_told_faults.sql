-- Which names there are inside was told until now.
UPDATE webhook_delivery SET fault = 'no_public_address' WHERE fault IN ('address_refused', 'name_not_found');
