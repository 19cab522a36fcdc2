-- A player who wants to be forgotten: the rows with name and tokens go, the log holds nothing but the id.
GRANT DELETE ON player, token TO shanghai_app;
