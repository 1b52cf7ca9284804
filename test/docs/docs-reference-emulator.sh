echo secret > token
chmod 600 token
